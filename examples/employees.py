"""A schema that evolves: defaults, aliases and unions, and a breaking change that the registry refuses.

Takes the broker's address and the registry's (`ottla registry` starts one).
"""

import itertools
import sys
import time
from dataclasses import dataclass

from ottla.client import AvroDeserializer, AvroSerializer, Consumer, Producer, RegistryError, SchemaRegistry

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
REGISTRY = sys.argv[2] if len(sys.argv) > 2 else "http://localhost:8081"
# A topic of its own for every run, and so a subject of its own.
TOPIC = f"employees-{time.time_ns()}"

PHONE = {
    "type": "record",
    "name": "PhoneNumber",
    "fields": [{"name": "areaCode", "type": "string"}, {"name": "number", "type": "string"}],
}
STATUS = {"type": "enum", "name": "Status", "symbols": ["RETIRED", "SALARY", "HOURLY"], "default": "SALARY"}
NAMES = [{"name": "firstName", "type": "string"}, {"name": "lastName", "type": "string"}]
OTHERS = [
    {"name": "nickName", "type": ["null", "string"], "default": None},  # a union: may be missing
    {"name": "phoneNumber", "type": PHONE},
    {"name": "status", "type": STATUS, "default": "SALARY"},
]


def employee(*fields: dict) -> dict:
    return {"type": "record", "name": "Employee", "namespace": "com.example.phonebook", "fields": list(fields)}


AGE = {"name": "age", "type": "int", "default": -1}
FAMILY_NAME = {"name": "familyName", "type": "string", "aliases": ["lastName"]}
FIRST = employee(*NAMES, *OTHERS)
SECOND = employee(*NAMES, AGE, *OTHERS)  # a new field needs a default, for records that lack it
THIRD = employee(NAMES[0], FAMILY_NAME, AGE, *OTHERS)  # a new name needs an alias, for records that have the old one
BROKEN = employee(NAMES[0], {"name": "familyName", "type": "string"}, AGE, *OTHERS)


@dataclass
class PhoneNumber:
    areaCode: str  # noqa: N815
    number: str


@dataclass
class Employee:
    firstName: str  # noqa: N815
    lastName: str  # noqa: N815
    phoneNumber: PhoneNumber  # noqa: N815
    nickName: str | None = None  # noqa: N815
    status: str = "SALARY"
    age: int = 0


def send(registry: SchemaRegistry, schema: dict, numbers: range, **more) -> None:
    """Writes employees; the serializer registers the schema with the first."""
    serializer = AvroSerializer(registry, schema)
    with Producer(bootstrap_servers=BROKER, key_serializer="long", value_serializer=serializer) as producer:
        for number in numbers:
            bob = Employee("Bob", f"Jones {number}", PhoneNumber("301", f"555-{number:04}"), **more)
            producer.send(TOPIC, bob, key=number)


def read(registry: SchemaRegistry, schema: dict, **options) -> list:
    """All employees, as a reader of that schema sees them."""
    deserializer = AvroDeserializer(registry, schema, **options)
    settings = {"auto.offset.reset": "earliest", "key.deserializer": "long", "group.id": f"readers-{time.time_ns()}"}
    with Consumer(settings, bootstrap_servers=BROKER, value_deserializer=deserializer) as consumer:
        consumer.subscribe([TOPIC])
        return [record.value for record in itertools.islice(consumer, 99)]


with SchemaRegistry(url=REGISTRY) as registry:
    send(registry, FIRST, range(1, 99))
    send(registry, SECOND, range(99, 100), age=42, nickName="Bo")

    old = read(registry, FIRST)
    print(f"a reader of version 1 sees {len(old)} employees, with an age: {sum('age' in one for one in old)}")

    new = read(registry, SECOND)
    print(f"a reader of version 2 sees the ages {sorted({one['age'] for one in new})}")

    subject = f"{TOPIC}-value"
    verdict = registry.test_compatibility(subject, AvroSerializer(registry, BROKEN).schema)
    print(f"renamed without an alias, is it compatible? {verdict.is_compatible}: {verdict.messages[0][:51]}")
    try:
        send(registry, BROKEN, range(1))
    except RegistryError as error:
        print(f"and registering it: {error.status}")

    registry.register(subject, AvroSerializer(registry, THIRD).schema)
    renamed = read(registry, THIRD, into=lambda fields: fields["familyName"])
    print(f"a reader of version 3 finds by its alias: {renamed[0]}")
    print(f"versions: {registry.versions(subject)}")
