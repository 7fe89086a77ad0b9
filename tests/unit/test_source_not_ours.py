"""Files of others beside tasks are left out of folders, and judged when named."""

from compiler.diagnostics import Diagnostics
from compiler.source import read_units


def found(*paths):
    diagnostics = Diagnostics()
    units = read_units([str(path) for path in paths], diagnostics)
    names = [unit.source.path.rsplit("/", 1)[-1] for unit in units]
    return names, [item.code for item in diagnostics]


def test_a_folder(tmp_path):
    texts = {
        "a-task.yaml": "run: echo\n",
        "b-conda.yaml": "name: env\nchannels: [conda-forge]\n",
        "c-manifest.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n",
        "d-settings.yaml": "lr: 0.1\ntype: adam\n",
        "e-volume.yaml": "name: v\ntype: k8s-pvc\nsize: 1Gi\n",
        "f-header.yaml": "name: only\n",
        "g-misspelt.yaml": "nmae: x\nresources: {}\n",
        "h-misspelt.yaml": "nmae: x\nresuorces: {}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    names, codes = found(tmp_path)
    assert names == [
        "a-task.yaml",
        "e-volume.yaml",
        "f-header.yaml",
        "g-misspelt.yaml",
        "h-misspelt.yaml",
    ]
    assert codes == ["not-ours"] * 3


def test_a_file_named_by_itself_is_taken_at_its_word(tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text("lr: 0.1\n")
    names, codes = found(path)
    assert names == ["settings.yaml"]
    assert codes == []
