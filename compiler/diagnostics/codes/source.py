"""Codes of the first stage: finding files, and reading YAML as SkyPilot reads it."""

from compiler.diagnostics.code import Code, Severity

FILE_NOT_FOUND = Code(
    "file-not-found",
    Severity.ERROR,
    "There is no file or folder with this name.",
    "Nothing can be read from it.",
    "Check the spelling and the current folder; `-` reads standard input.",
)
FILE_UNREADABLE = Code(
    "file-unreadable",
    Severity.ERROR,
    "The file or folder exists but cannot be read.",
    "What it holds is not known.",
    "Check its permissions, and that it is a file or a folder.",
)
NO_REGULAR_FILE = Code(
    "no-regular-file",
    Severity.ERROR,
    "The path is a named pipe, a device or a socket, and no file.",
    "Reading it could wait for ever, or never come to an end.",
    "Name a file; `-` reads standard input, and `<(command)` of a shell is fine.",
)
NO_INPUT_FILES = Code(
    "no-input-files",
    Severity.ERROR,
    "The folder holds no *.yaml or *.yml file (hidden ones are skipped).",
    "An empty input is more often a wrong path than a wish.",
    "Name the folder that holds the files.",
)
FILE_TOO_LARGE = Code(
    "file-too-large",
    Severity.ERROR,
    "The input is larger than a YAML file can sensibly be.",
    "Reading it would take more time and memory than any real file deserves.",
    "Split the file, or take data out of it (into a workdir or a bucket).",
)
NOT_UTF_8 = Code(
    "not-utf-8",
    Severity.ERROR,
    "The file is not UTF-8 text.",
    "YAML files are read as UTF-8, whatever the machine's locale says.",
    "Save the file as UTF-8.",
)
CONTROL_CHARACTER = Code(
    "control-character",
    Severity.ERROR,
    "The text holds a character that YAML, a shell or an environment variable cannot carry.",
    "NUL and control bytes end or garble text on the way to the platform.",
    "Remove the character; in a double-quoted YAML text write an escape such as `\\e`.",
)
EMPTY_DOCUMENT = Code(
    "empty-document",
    Severity.ERROR,
    "The file is empty or holds only comments and empty documents.",
    "There is no task, volume, group or stack in it.",
    "Write at least one field, for example `run: echo hello`.",
    example="# nothing here",
)
NOT_A_MAP = Code(
    "not-a-map",
    Severity.ERROR,
    "A document must be a map of fields; this one is a plain text, a number or a list.",
    "Fields such as `run` and `resources` are looked up by name.",
    "Write `field: value`, with a blank after the colon; separate documents with `---`.",
    example="- run: echo hello",
)
YAML_SYNTAX = Code(
    "yaml-syntax",
    Severity.ERROR,
    "The text is not valid YAML.",
    "Nothing in the document can be relied upon.",
    "Look at the marked place and just before it: indentation, quotes, brackets, colons.",
    example="resources: {cpus: 4",
)
TAB_INDENTATION = Code(
    "tab-indentation",
    Severity.ERROR,
    "A tab is used to indent; YAML allows only blanks there.",
    "Tabs have no fixed width, so the structure would be anybody's guess.",
    "Replace the tab by blanks.",
    example="resources:\n\tcpus: 4",
)
UNKNOWN_ALIAS = Code(
    "unknown-alias",
    Severity.ERROR,
    "An alias (`*name`) refers to an anchor that was not defined before it.",
    "There is no value to put in its place.",
    "Define the anchor (`&name`) earlier in the same document, or quote a text that starts "
    "with `*`.",
    example="resources: *missing",
)
RECURSIVE_ALIAS = Code(
    "recursive-alias",
    Severity.ERROR,
    "An alias stands inside the value that it refers to.",
    "The value would contain itself and never end.",
    "Refer to another value.",
    example="envs: &envs {A: *envs}",
)
DUPLICATE_KEY = Code(
    "duplicate-key",
    Severity.ERROR,
    "A map holds the same key twice.",
    "Only one of the two values can be meant.",
    "Remove or rename one of them.",
    example="num_nodes: 1\nnum_nodes: 2",
)
KEY_NOT_TEXT = Code(
    "key-not-text",
    Severity.ERROR,
    "A key is read as a number, boolean, date, list or map instead of a text.",
    "Names of fields, variables and paths are texts; YAML 1.1 reads `on` as true, 1 as a number.",
    "Quote the key.",
    example="envs: {on: 1}",
)
BAD_MERGE = Code(
    "bad-merge",
    Severity.ERROR,
    "A merge key (`<<`) names something that is not a map or a list of maps.",
    "Only the fields of maps can be merged.",
    "Merge an alias of a map, or quote the key if `<<` is meant as a name.",
    example="envs: {<<: text}",
)
UNKNOWN_TAG = Code(
    "unknown-tag",
    Severity.ERROR,
    "A YAML tag (`!name`) is not known here.",
    "What it would make of the value is not defined.",
    "Remove the tag, or quote a text that starts with `!`.",
    example="run: !include run.sh",
)
UNSUPPORTED_TAG = Code(
    "unsupported-tag",
    Severity.ERROR,
    "The value is of a YAML type that no field can hold (a set, binary data, an ordered map).",
    "Fields hold texts, numbers, booleans, lists and maps.",
    "Write the value without the tag.",
    example="envs: !!set {A, B}",
)
DATE_VALUE = Code(
    "date-value",
    Severity.ERROR,
    "An unquoted date or time is read as a date, not as a text; no field holds dates.",
    "SkyPilot's schema refuses the date object that YAML 1.1 makes of it.",
    "Quote it.",
    example="name: 2024-01-01",
)
INVALID_NUMBER = Code(
    "invalid-number",
    Severity.ERROR,
    "The value is written like a number (or boolean) but none can be made of it.",
    "Infinite, not-a-number and overlong values cannot be passed on.",
    "Write a finite number, or quote the value if a text is meant.",
    example="resources: {max_hourly_cost: .nan}",
)
TOO_DEEP = Code(
    "too-deep",
    Severity.ERROR,
    "Maps and lists are nested deeper than any real file needs.",
    "Such input is refused before it can exhaust memory or the stack.",
    "Flatten the structure.",
)
TOO_MANY_VALUES = Code(
    "too-many-values",
    Severity.ERROR,
    "The file holds, or its aliases expand to, more values than any real file needs.",
    "Such input is refused before it can exhaust memory.",
    "Split the file; use fewer aliases of aliases.",
)
YAML_1_2_DIFFERS = Code(
    "yaml-1-2-differs",
    Severity.WARNING,
    "YAML 1.1 (which SkyPilot reads) and YAML 1.2 (which editors and other tools read) make "
    "different values of this text.",
    "The file means one thing here and another in the next tool: `12:30` is 750 or a text, `on` "
    "true or a text, `1e3` a text or 1000.",
    "Quote the text, or write the value that is meant.",
    example="envs: {START: 12:30}",
)
MORE_FINDINGS = Code(
    "more-findings",
    Severity.NOTE,
    "The document has more faults than are shown.",
    "A long list of the same kind hides what matters.",
    "Mend those that are shown, then look again.",
)
SEVERAL_DOCUMENTS = Code(
    "several-documents",
    Severity.ERROR,
    "A file of this kind holds one document.",
    "The further documents would not be looked at.",
    "Put each into a file of its own.",
    example="set: {name: a}\n---\nset: {name: b}",
)
MIXED_KINDS = Code(
    "mixed-kinds",
    Severity.ERROR,
    "The documents of one file are of different kinds.",
    "A file is a task, a pipeline, a group, volumes or a stack; not several of these.",
    "Put them into files of their own.",
    example="run: echo hello\n---\ntype: k8s-pvc\nname: data",
)
GROUP_WITHOUT_TASKS = Code(
    "group-without-tasks",
    Severity.ERROR,
    "A group header stands alone: no task follows it.",
    "A group runs the tasks that follow its header, each in a document of its own.",
    "Add the tasks, each after a `---`.",
    example="name: g\nexecution: parallel",
)
NOT_OURS = Code(
    "not-ours",
    Severity.NOTE,
    "A YAML file found in a folder has no field of a task, volume, group or stack.",
    "Settings and manifests of other programs often lie beside tasks; taking them for tasks would "
    "only give errors.",
    "Nothing, if the file is somebody else's; else name it by itself, and what is wrong is shown.",
    example="learning_rate: 0.1  # in tasks/train/config.yaml",
)
