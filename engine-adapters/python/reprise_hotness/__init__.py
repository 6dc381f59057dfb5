"""HotPrefix, as every engine's plugin needs it: how hot prefixes are, and in what order they go and come."""

POLICIES = ("stock", "hotprefix")
"""what operators may choose"""
DEFAULT_ADMISSION = 10
"""requests after which a prefix may go to the host (HotPrefix §3.3.2)"""
