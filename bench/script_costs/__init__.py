"""Lua scripts: what they take from the client's processor and memory."""
