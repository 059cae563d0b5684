"""Consumer groups (KIP-848): the brokers decide who gets what, and members follow at their own pace."""
