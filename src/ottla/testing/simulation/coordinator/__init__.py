"""The coordinators in the simulator: real group and transaction coordinators on replicated logs that move and forget.

`world` runs a seed. Brokers (`broker`) hold the coordinators unchanged; a partition (`partition`) is a log that its
leader writes and the others may or may not have yet; clients (`workload`) follow Kafka's client rules;
`invariant` says what must hold whatever happens, and `canary` breaks each of them on purpose.
"""
