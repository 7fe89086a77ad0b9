"""A quick yes: whether a schema has nothing against a value, without saying what.

Every sub-schema becomes one function that looks only at the keywords for the type of its value.
Most documents are right, and jsonschema takes ten times as long to find nothing. Where this
module does not say yes, jsonschema is asked, so that all findings are its own.

Without it a render takes 2.3 to 2.5 times its unavoidable parts (`python -m bench throughput`),
with it 1.7 to 2.0. jsonschema-rs would be as quick, but takes 75 ms to read the task's schema,
which every run on a single file would pay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from compiler.source.schemas import schema, target_of

Test = Callable[[Any], bool]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
}
_KNOWN = frozenset(kind for kinds in _TYPES.values() for kind in kinds)
# Keywords that say something about values of one type only.
_OF_TYPE = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), (str,)),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum"), (int, float)),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems"), (list,)),
    **dict.fromkeys(("properties", "propertyNames", "minProperties", "maxProperties"), (dict,)),
    **dict.fromkeys(("additionalProperties", "required"), (dict,)),
    **dict.fromkeys(("dependentRequired", "dependentSchemas"), (dict,)),
}
# Keywords that say nothing by themselves.
_ANNOTATIONS = {"$schema", "$id", "$comment", "title", "description", "examples", "default"}
_SILENT = _ANNOTATIONS | {"$defs", "type", "then", "else"}


class Unsure(Exception):
    """A value or a keyword that only jsonschema can judge."""


def accepts(name: str, definition: str | None, value: object) -> bool:
    """Whether the schema of this name, or one of its `$defs`, surely takes `value`.

    Raises KeyError for a schema or definition that does not exist.
    """
    content = schema(name) if definition is None else schema(name)["$defs"][definition]
    try:
        return _test(name, content)(value)
    except Unsure:
        return False


# By the identity of their schemas, which live as long as the process.
_made: dict[int, Test] = {}


def _test(name: str, content: Any) -> Test:
    test = _made.get(id(content))
    if test is not None:
        return test
    if isinstance(content, bool):
        return lambda value: content
    by_type: dict[type, tuple[Test, ...]] = {}  # filled as types are met

    def test_of_schema(value: Any) -> bool:
        tests = by_type.get(type(value))
        if tests is None:
            tests = by_type[type(value)] = tuple(_tests_for(type(value), name, content))
        for test in tests:  # noqa: SIM110 (all() takes twice as long)
            if not test(value):
                return False
        return True

    _made[id(content)] = test_of_schema
    return test_of_schema


def _tests_for(kind: type, name: str, content: dict[str, Any]) -> Iterator[Test]:
    """The tests for values of exactly this type."""
    if kind not in _KNOWN:
        yield _unsure
        return
    types = content.get("type", ())
    types = (types,) if isinstance(types, str) else types
    if types and not any(kind in _TYPES[one] for one in types):
        # 2.0 is an integer
        yield float.is_integer if kind is float and "integer" in types else _no
    for keyword, argument in content.items():
        if keyword in _SILENT or kind not in _OF_TYPE.get(keyword, _KNOWN):
            continue
        if keyword == "additionalProperties" and "properties" in content:
            continue  # which looks at the others as well
        yield _MAKERS.get(keyword, _unknown)(argument, name, content)


def _no(value: Any) -> bool:
    return False


def _unsure(value: Any) -> bool:
    raise Unsure


def _unknown(argument: Any, name: str, content: dict[str, Any]) -> Test:
    return _unsure


def _ref(reference: str, name: str, content: dict[str, Any]) -> Test:
    return _test(*target_of(name, reference))


def _properties(fields: dict[str, Any], name: str, content: dict[str, Any]) -> Test:
    """All that is said about single fields: `properties` and `additionalProperties`."""
    other = content.get("additionalProperties", True)
    others = None if other is True else _test(name, other)
    tests: dict[str, Test] = {}  # filled as fields are met: most never are

    def test(value: dict[str, Any]) -> bool:
        for key, item in value.items():
            of_field = tests.get(key)
            if of_field is None:
                if key not in fields:
                    if others is not None and not others(item):
                        return False
                    continue
                of_field = tests[key] = _test(name, fields[key])
            if not of_field(item):
                return False
        return True

    return test


def _additional(argument: Any, name: str, content: dict[str, Any]) -> Test:
    return _properties({}, name, content)


def _property_names(argument: Any, name: str, content: dict[str, Any]) -> Test:
    test = _test(name, argument)
    return lambda value: all(map(test, value))


def _required(keys: list[str], name: str, content: dict[str, Any]) -> Test:
    return lambda value: all(key in value for key in keys)


def _dependent_required(keys: dict[str, list[str]], name: str, content: dict[str, Any]) -> Test:
    return lambda value: all(
        key not in value or all(other in value for other in needed) for key, needed in keys.items()
    )


def _dependent_schemas(schemas: dict[str, Any], name: str, content: dict[str, Any]) -> Test:
    tests = [(key, _test(name, below)) for key, below in schemas.items()]
    return lambda value: all(key not in value or test(value) for key, test in tests)


def _items(argument: Any, name: str, content: dict[str, Any]) -> Test:
    test = _test(name, argument)
    return lambda value: all(map(test, value))


def _unique_items(argument: Any, name: str, content: dict[str, Any]) -> Test:
    def test(value: list[Any]) -> bool:
        if not argument or len(value) < 2:
            return True
        if any(type(item) is not str and type(item) is not int for item in value):
            raise Unsure  # 1, 1.0 and true are other values here than in Python
        return len(set(value)) == len(value)

    return test


def _one_of_values(values: list[Any], name: str, content: dict[str, Any]) -> Test:
    scalars = frozenset((type(item), item) for item in values if type(item) not in (dict, list))

    def test(value: Any) -> bool:
        kind = type(value)
        if kind is dict or kind is list:
            raise Unsure
        if (kind, value) in scalars:
            return True
        if kind is int or kind is float:
            raise Unsure  # 1 and 1.0 are the same
        return False

    return test


def _not(argument: Any, name: str, content: dict[str, Any]) -> Test:
    test = _test(name, argument)
    return lambda value: not test(value)


def _any_of(argument: list[Any], name: str, content: dict[str, Any]) -> Test:
    tests = [_test(name, part) for part in argument]
    return lambda value: any(test(value) for test in tests)


def _all_of(argument: list[Any], name: str, content: dict[str, Any]) -> Test:
    tests = [_test(name, part) for part in argument]
    return lambda value: all(test(value) for test in tests)


def _if(argument: Any, name: str, content: dict[str, Any]) -> Test:
    condition = _test(name, argument)
    then, otherwise = (_test(name, content.get(key, True)) for key in ("then", "else"))
    return lambda value: then(value) if condition(value) else otherwise(value)


def _pattern(argument: str, name: str, content: dict[str, Any]) -> Test:
    search = re.compile(argument).search
    return lambda value: search(value) is not None


_Maker = Callable[[Any, str, dict[str, Any]], Test]
_MAKERS: dict[str, _Maker] = {
    "$ref": _ref,
    "properties": _properties,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "required": _required,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "items": _items,
    "uniqueItems": _unique_items,
    "enum": _one_of_values,
    "const": lambda argument, name, content: _one_of_values([argument], name, content),
    "not": _not,
    "anyOf": _any_of,
    "allOf": _all_of,
    "if": _if,
    "pattern": _pattern,
    "minLength": lambda least, name, content: lambda value: len(value) >= least,
    "maxLength": lambda most, name, content: lambda value: len(value) <= most,
    "minItems": lambda least, name, content: lambda value: len(value) >= least,
    "maxItems": lambda most, name, content: lambda value: len(value) <= most,
    "minProperties": lambda least, name, content: lambda value: len(value) >= least,
    "maxProperties": lambda most, name, content: lambda value: len(value) <= most,
    "minimum": lambda least, name, content: lambda value: not value < least,
    "maximum": lambda most, name, content: lambda value: not value > most,
    "exclusiveMinimum": lambda least, name, content: lambda value: not value <= least,
}
