"""Reads what an operator says in one place, and tells what of it cannot be used in that place's words."""

from reprise_settings.setting_place import SettingPlace, hint_at

__all__ = ["SettingPlace", "hint_at"]
