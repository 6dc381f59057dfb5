"""Reports what an inference engine has cached to reprise, using reprise's eviction callbacks."""

from reprise_callbacks.callback_client import CallbackClient, CallbackSettingError
from reprise_callbacks.callback_sender import CallbackSender, SenderLimits
from reprise_callbacks.changes import Change, Cleared, Translator, evicted, stored

__all__ = [
    "CallbackClient",
    "CallbackSender",
    "CallbackSettingError",
    "Change",
    "Cleared",
    "SenderLimits",
    "Translator",
    "evicted",
    "stored",
]
