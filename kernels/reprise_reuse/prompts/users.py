"""Whose segments a user may reuse: what stood before a text in another user's prompt is part of its keys and values.

Whoever writes something in front of a document that others also use could otherwise mislead their answers (HijackKV,
arXiv 2607.19957).
"""

import hashlib
import hmac
from collections import Counter
from typing import TYPE_CHECKING

from reprise_reuse.segments import Found, Segment

if TYPE_CHECKING:
    from reprise_settings.reuse_settings import ReuseSettings

PREPROCESSED = b""
"""stands for the user of preprocessing, which everyone trusts"""
EVERYONE = b"*"
"""an audience: the user that every other one trusts as little as any"""


def user_of(name: str | None, key: str | None, settings: "ReuseSettings") -> bytes:
    """Returns whom a request's segments belong to, within its salt. Requests without a name have one user in common.

    key  what the request shows to prove that it comes from preprocessing
    """
    if key and settings.preprocess_key and hmac.compare_digest(key.encode(), settings.preprocess_key.encode()):
        return PREPROCESSED
    return hashlib.blake2b((name or "").encode(), digest_size=16).digest()


def store_of(salt: str | None, settings: "ReuseSettings") -> str:
    """Returns which segments requests with this salt may reuse: a value of the setting `store`."""
    return "all" if salt in settings.trusted_salts else settings.store


def may_use(segment: Segment, user: bytes, store: str) -> bool:
    """Whether a user may reuse a segment, judged by who had its contexts computed.

    One's own contexts and those of preprocessing are always trusted, with `all` everybody's. With `averaged`, no other
    user may have had more than half of them computed.
    """
    others = Counter(one for one in segment.users if one not in (user, PREPROCESSED))
    most = max(others.values(), default=0)
    return store == "all" or most == 0 or (store == "averaged" and 2 * most <= len(segment.users))


def would_dominate(segment: Segment, user: bytes, store: str) -> bool:
    """Whether, with one more context, a user would have more than half of a mean that others have added to."""
    own = segment.users.count(user)
    return store != "all" and 0 < own < len(segment.users) and 2 * (own + 1) > len(segment.users) + 1


def audience_of(segment: Segment, user: bytes, store: str) -> bytes | None:
    """Returns who may reuse a segment wherever it is found: everyone, or this user alone; None: not even he."""
    return next((one for one in (EVERYONE, user) if may_use(segment, one, store)), None)


def may_reuse(found: Found, user: bytes, store: str) -> bool:
    """Whether a user may reuse this run: also if the very same tokens stand before it, or nothing stood before it."""
    stood_first = found.segment.position == 0 and found.match.offset == 0
    return found.is_exact or stood_first or may_use(found.segment, user, store)
