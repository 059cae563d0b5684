"""Turns declared messages into bytes and back.

`plan` lays a version out; `engine` runs the plan, with the compiled twin `_engine` where it was built and with
`reader` and `writer` otherwise. Those two also explain what is wrong with bytes or values that `_engine` refuses.
"""
