"""Every quoting filter, read back by the reader that it is made for."""

import ast
import shlex
import subprocess

import pytest
import yaml
from jinja2 import UndefinedError

from compiler.rendering import quoting
from compiler.rendering.environment import environment

ODD = [
    "",
    " ",
    "plain",
    "two words",
    "it's",
    'say "hi"',
    "$HOME ${HOME} $(id) `id`",
    "a,b=c;d&e|f>g<h",
    "back\\slash\\\\ \\n",
    "line\nbreak\n",
    "\n\nleading and trailing\n\n",
    "tab\tand\x0bvt\x0cff\x7fdel\x1besc",
    "carriage\r\nreturn\r",
    "!history !! #hash",
    "-n",
    "--",
    "~/x *.? [a] {b,c}",
    "{{ jinja }} {% raw %}",
    "TRIPLANE_0\nEOF\n",
    "ümläut 漢字 🚀 \u2028 \u0085 \ufeff \u200b",
    "'\"'\"'",
    "%s %d \\x41",
    "yes",
    "1e-6",
    "0777",
    ": - # & *",
]
LINES = [text for text in ODD if not set(text) & {"\n", "\r"}]


def bash(script: str, *arguments: str) -> bytes:
    command = ["bash", "--norc", "--noprofile", "-c", script, "bash", *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("text", ODD)
def test_sh_is_one_word_for_bash(text: str) -> None:
    assert bash(f"printf '%s|' {quoting.sh(text)} end") == f"{text}|end|".encode()


@pytest.mark.parametrize("text", ODD)
def test_sh_is_one_word_for_dash(text: str) -> None:
    script = f"printf '%s|' {quoting.sh(text)} end"
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert done.stdout == f"{text}|end|".encode()


def test_sh_shows_every_character_of_a_word() -> None:
    word = quoting.sh("a\u202eb\x1b\nc")
    assert word == "'a'\"$(printf '\\342\\200\\256')\"'b'\"$(printf '\\033')\"'\nc'"


@pytest.mark.parametrize("text", ODD)
def test_shdq_is_literal_between_double_quotes(text: str) -> None:
    assert bash(f'printf "%s" "<{quoting.shdq(text)}>"') == f"<{text}>".encode()


@pytest.mark.parametrize("text", ODD)
def test_heredoc_writes_the_exact_bytes(text: str, tmp_path) -> None:
    target = tmp_path / "a 'b"
    script = quoting.heredoc(text, quoting.sh(str(target)))
    assert bash(f"{script}printf done") == b"done"
    assert target.read_bytes() == text.encode()


def test_heredoc_skips_delimiters_that_the_text_has() -> None:
    assert quoting.heredoc_delimiter("echo hello\n") == "TRIPLANE_0"
    assert quoting.heredoc_delimiter("TRIPLANE_0\nTRIPLANE_1\n") == "TRIPLANE_2"
    assert quoting.heredoc_delimiter(" TRIPLANE_0\nTRIPLANE_00\n") == "TRIPLANE_0"


def test_heredoc_body_is_the_text_as_written() -> None:
    assert "\npython train.py --x='$A'\n" in quoting.heredoc("python train.py --x='$A'\n", "run.sh")


def test_heredoc_never_puts_dos_line_breaks_into_a_script() -> None:
    assert "\r" not in quoting.heredoc("a\r\nb\\'\r", "f")


def directive_words(line: str) -> list[str]:
    """The words of a directive by sbatch's rules, which are shlex's for what we write."""
    reader = shlex.shlex(line, posix=True)
    reader.whitespace_split = True
    reader.commenters = ""
    reader.escapedquotes = "\"'"
    return list(reader)


@pytest.mark.parametrize("text", LINES)
def test_sbatch_value_is_one_word(text: str) -> None:
    assert directive_words(f"--comment={quoting.sbatch(text)}") == [f"--comment={text}"]


def test_sbatch_quotes_only_where_it_must() -> None:
    assert quoting.sbatch("gpu:h100:8") == "gpu:h100:8"
    assert quoting.sbatch("a100|h100&ib") == "a100|h100&ib"
    assert quoting.sbatch("nvcr.io#nvidia/x") == '"nvcr.io#nvidia/x"'
    assert quoting.sbatch("a b") == '"a b"'


@pytest.mark.parametrize("text", ["a\nb", "a\r", "\n"])
def test_sbatch_refuses_line_breaks(text: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        quoting.sbatch(text)


@pytest.mark.parametrize("text", ODD)
def test_py_is_a_literal(text: str) -> None:
    literal = quoting.py(text)
    assert ast.literal_eval(literal) == text
    assert literal.isascii() and "\n" not in literal


def test_py_of_data() -> None:
    data = {"a": [1, 2.5, True, None, "x'y"], "b": {}}
    assert ast.literal_eval(quoting.py(data)) == data
    with pytest.raises(ValueError, match="object"):
        quoting.py({"a": object()})


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
@pytest.mark.parametrize("text", ODD)
def test_yaml_scalar_is_that_string(text: str, loader: type) -> None:
    assert yaml.load(f"key: {quoting.yaml_scalar(text)}\n", loader) == {"key": text}


NAMES = ["sh", "shdq", "sbatch", "py", "yaml_scalar"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["a\0b", "half \ud800 pair"])
def test_what_no_file_can_hold_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"NUL|surrogate"):
        getattr(quoting, name)(text)
    with pytest.raises(ValueError, match=r"NUL|surrogate"):
        quoting.heredoc(text, "f")


@pytest.mark.parametrize("value", [None, True, ["a"], {"a": 1}])
def test_only_texts_and_numbers_are_words(value: object) -> None:
    with pytest.raises(ValueError, match="is no text"):
        quoting.sh(value)
    assert quoting.sh(8) == "'8'"


def test_environment_is_strict_and_has_the_filters() -> None:
    made = environment()
    assert made is environment()
    with pytest.raises(UndefinedError):
        made.from_string("{{ nothing }}").render()
    with pytest.raises(UndefinedError):
        made.from_string("{{ nothing | sh }}").render()
    text = made.from_string("{% if true %}\n  {% endif %}\nA={{ a | sh }}\n").render(a="<&'")
    assert text == "A='<&'\\'''\n"
    assert (
        made.from_string("{{ a | heredoc('f') }}").render(a="x\n").startswith("cat >f <<'TRIPLANE_")
    )
