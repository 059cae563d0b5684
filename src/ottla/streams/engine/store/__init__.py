"""Stores: what nodes remember, in bytes over an ordered map."""
