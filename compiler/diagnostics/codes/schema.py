"""Codes of the second stage: what the JSON Schemas in schemas/ say about a document."""

from compiler.diagnostics.code import Code, Severity

UNKNOWN_FIELD = Code(
    "unknown-field",
    Severity.ERROR,
    "The map holds a key that is not known at this place.",
    "A misspelt field would be ignored, and found out when the job is wrong.",
    "Take the name that is suggested, or remove the field; `triplane explain` lists the fields.",
    example="resources: {acelerators: H100:8}",
)
REFUSED_FIELD = Code(
    "refused-field",
    Severity.ERROR,
    "The field is known but cannot be given here; the message says what to use instead.",
    "It was renamed, or belongs elsewhere.",
    "Follow the message.",
    example="config: {kubernetes: {custom_metadata: {namespace: ml}}}",
)
WRONG_TYPE = Code(
    "wrong-type",
    Severity.ERROR,
    "The value is of another type than the field takes.",
    "A text where a number is meant (or the other way round) is not converted silently.",
    "Write the value as the message says; quotes make a text, no quotes a number or boolean.",
    example='num_nodes: "2"',
)
INVALID_VALUE = Code(
    "invalid-value",
    Severity.ERROR,
    "The value is of the right type but not one that the field takes.",
    "Nothing sensible can be made of it.",
    "Take one of the values (or the form) that the message names.",
    example="resources: {disk_tier: fastest}",
)
OUT_OF_RANGE = Code(
    "out-of-range",
    Severity.ERROR,
    "A number, length or count is outside its bounds.",
    "The platform or the dialect does not accept it.",
    "Stay within the bounds that the message names.",
    example="num_nodes: 0",
)
MISSING_FIELD = Code(
    "missing-field",
    Severity.ERROR,
    "A field that is needed here is not given.",
    "It has no default.",
    "Add the field.",
    example="service: {replicas: 2}",
)
CONFLICTING_FIELDS = Code(
    "conflicting-fields",
    Severity.ERROR,
    "Fields are given together that exclude each other.",
    "Only one of them can be followed.",
    "Remove all but one.",
    example="resources: {accelerators: H100:8, gpus: H100:8}",
)
