"""Codes for files, buckets and volumes."""

from compiler.diagnostics.code import Code, Severity

WORKDIR_MISSING = Code(
    "workdir-missing",
    Severity.ERROR,
    "`workdir` is no folder that is there.",
    "The task would start without its files.",
    "Check the path. Relative paths start in the current folder unless the stack sets `root`.",
    example="workdir: ./srcc",
)
GIT_URL = Code(
    "git-url",
    Severity.ERROR,
    "`workdir.url` is no git repository.",
    "There is nothing to clone.",
    "Write a repository by https or ssh.",
    example="workdir: {url: github.com/org/repo}",
)
MOUNT_SOURCE_MISSING = Code(
    "mount-source-missing",
    Severity.ERROR,
    "A local file or folder is not there.",
    "The task would start without it.",
    "Check the path. Relative paths start in the current folder unless the stack sets `root`.",
    example="file_mounts: {/data: ./daat}",
)
NATIVE_SCRIPT_MISSING = Code(
    "native-script-missing",
    Severity.ERROR,
    "`config.triplane.native_script` is no file that is there.",
    "The script is all that the task runs.",
    "Check the path. Relative paths start in the current folder unless the stack sets `root`.",
    example="config: {triplane: {native_script: jbo.sh}}",
)
MOUNT_SLASH = Code(
    "mount-slash",
    Severity.ERROR,
    "A path ends in a slash.",
    "Tools differ in what a slash at the end means, so the dialect refuses it.",
    "Leave the slash out.",
    example="file_mounts: {/data/: ./data}",
)
MOUNT_TO_URL = Code(
    "mount-to-url",
    Severity.ERROR,
    "The destination of a mount is a URL.",
    "The destination is a path on the nodes.",
    "Write `destination: source`.",
    example="file_mounts: {'s3://b': ./data}",
)
MOUNT_SCHEME = Code(
    "mount-scheme",
    Severity.ERROR,
    "The source of a mount is a URL that nothing can fetch from.",
    "The file would be missing on the nodes.",
    "Use a local path or a URL of a known store.",
    example="file_mounts: {/data: 'ftp://host/data'}",
)
MOUNT_OVER_WORKDIR = Code(
    "mount-over-workdir",
    Severity.ERROR,
    "A mount stands where the workdir goes.",
    "One would hide the other.",
    "Mount at a path below `~/sky_workdir`, or leave out `workdir`.",
    example="file_mounts: {~/sky_workdir: ./data}  # with a workdir",
)
MOUNT_TWICE = Code(
    "mount-twice",
    Severity.ERROR,
    "Two mounts have the same destination.",
    "One would hide the other.",
    "Give one of them another path.",
    example="volumes: {/data: a, /data/.: b}",
)
STORAGE_EMPTY = Code(
    "storage-empty",
    Severity.ERROR,
    "A storage object has neither a name nor a source.",
    "There is no bucket to mount.",
    "Give `name`, `source` or both.",
    example="file_mounts: {/data: {mode: MOUNT}}",
)
STORAGE_COPY_EXISTING = Code(
    "storage-copy-existing",
    Severity.WARNING,
    "A bucket is copied, and nothing is said about what it holds.",
    "This works only for a bucket that exists already.",
    "Give `source`, or make sure that the bucket is there.",
    example="file_mounts: {/data: {name: my-bucket, mode: COPY}}",
)
STORAGE_NEEDS_NAME = Code(
    "storage-needs-name",
    Severity.ERROR,
    "Local files are to go into a bucket without a name.",
    "The bucket must be called something.",
    "Add `name`.",
    example="file_mounts: {/data: {source: ./data}}",
)
STORAGE_NAME_AND_URL = Code(
    "storage-name-and-url",
    Severity.ERROR,
    "A storage object has a name and the URL of a bucket.",
    "The URL already names the bucket.",
    "Leave out `name`.",
    example="file_mounts: {/data: {name: my-bucket, source: 's3://b'}}",
)
STORAGE_SUB_PATH = Code(
    "storage-sub-path",
    Severity.ERROR,
    "A part of a bucket is to be mounted.",
    "MOUNT and MOUNT_CACHED mount whole buckets.",
    "Name the bucket alone, or use `mode: COPY`.",
    example="file_mounts: {/data: {source: 's3://b/part'}}",
)
STORAGE_SINGLE_FILE = Code(
    "storage-single-file",
    Severity.ERROR,
    "The source of a bucket is one file.",
    "A bucket holds the contents of a folder.",
    "Write a list with the file in it.",
    example="file_mounts: {/data: {name: my-bucket, source: ./a.txt}}",
)
STORAGE_LIST_LOCAL = Code(
    "storage-list-local",
    Severity.ERROR,
    "A list of sources holds a URL.",
    "Only local files are put together in a bucket.",
    "Use a storage object of its own for the URL.",
    example="file_mounts: {/data: {name: my-bucket, source: ['s3://c', a.txt]}}",
)
STORAGE_LIST_NAMES = Code(
    "storage-list-names",
    Severity.ERROR,
    "Two files of a list have the same name.",
    "In the bucket one would replace the other.",
    "Rename one, or put them into different folders of one source.",
    example="file_mounts: {/data: {name: my-bucket, source: [x/a.txt, y/a.txt]}}",
)
STORAGE_TYPE = Code(
    "storage-type",
    Severity.ERROR,
    "`type` is given for a mode that it does not tune.",
    "It would be ignored.",
    "Use `mode: MOUNT_CACHED`, or leave it out.",
    example="file_mounts: {/data: {name: my-bucket, source: ./d, type: DATASET_RO}}",
)
STORE_VOLUME = Code(
    "store-volume",
    Severity.ERROR,
    "A storage object is a disk of Google Cloud.",
    "No target of triplane has such disks.",
    "Use the task's `volumes`.",
    example="file_mounts: {/data: {name: d, store: volume}}",
)
BUCKET_NAME = Code(
    "bucket-name",
    Severity.ERROR,
    "A bucket cannot have this name.",
    "The store would refuse it.",
    "Use 3 to 63 lower-case letters, digits and `-`.",
    example="file_mounts: {/data: {name: My_Bucket, source: ./d}}",
)
VOLUME_FORM = Code(
    "volume-form",
    Severity.ERROR,
    "A volume mount is not in a form that the dialect has.",
    "What is mounted is not clear.",
    "Write the name of a volume, or a map with `name`, `size` or `host_path`.",
    example="volumes: {/data: {labels: {a: b}}}",
)
VOLUME_PATH = Code(
    "volume-path",
    Severity.ERROR,
    "A volume cannot be mounted at this path.",
    "Volumes are mounted at absolute paths, or below the home folder.",
    "Start the path with `/` or `~`, without a slash at the end.",
    example="volumes: {data: my-volume}",
)
VOLUME_KEYS = Code(
    "volume-keys",
    Severity.ERROR,
    "A volume mount has keys that do not go together.",
    "SkyPilot drops one of them silently.",
    "Leave out the key that the message names.",
    example="volumes: {/data: {name: v, size: 10Gi}}",
)
VOLUME_SUB_PATH = Code(
    "volume-sub-path",
    Severity.ERROR,
    "`sub_path` is no path inside a volume.",
    "It could lead out of the volume.",
    "Use a relative path without `..`.",
    example="volumes: {/data: {name: v, sub_path: ../x}}",
)
VOLUME_ACCESS_MODE = Code(
    "volume-access-mode",
    Severity.ERROR,
    "A volume for one node is mounted on several.",
    "Only the first node would start.",
    "Use `access_mode: ReadWriteMany` with a storage class that can do it.",
    example="num_nodes: 2  # with volumes: {/data: {size: 10Gi}}",
)
VOLUME_SIZE = Code(
    "volume-size",
    Severity.ERROR,
    "The size of a volume cannot be used.",
    "The claim would be refused.",
    "Write at least 1, in GiB or with a unit such as 100Gi.",
    example="size: 10G",
)
VOLUME_SIZE_ROUNDED = Code(
    "volume-size-rounded",
    Severity.WARNING,
    "The size of a volume is rounded up to whole GiB.",
    "SkyPilot would round it down.",
    "Write whole GiB.",
    example="size: 1500Mi",
)
VOLUME_NEEDS_SIZE = Code(
    "volume-needs-size",
    Severity.ERROR,
    "A new volume has no size.",
    "It cannot be made.",
    "Set `size`, or `use_existing: true`.",
    example="name: v  # with type: k8s-pvc",
)
VOLUME_NAME = Code(
    "volume-name",
    Severity.ERROR,
    "A volume cannot have this name.",
    "Kubernetes would refuse it.",
    "Use at most 63 lower-case letters, digits, `-` and `.`.",
    example="name: My_Volume  # of a volume",
)
VOLUME_INFRA = Code(
    "volume-infra",
    Severity.ERROR,
    "A volume's `infra` does not fit its type, or names no single place.",
    "The volume would be made nowhere.",
    "Name the place with the type's cloud, without `*`.",
    example="infra: aws  # with type: k8s-pvc",
)
VOLUME_PLACES = Code(
    "volume-places",
    Severity.ERROR,
    "A volume is not where the task may go.",
    "A volume is in one place, and can be mounted only there.",
    "Leave out the alternative that goes elsewhere, or mount a volume that is there.",
)
HOST_PATH = Code(
    "host-path",
    Severity.ERROR,
    "`host_path` is no folder that can be mounted.",
    "The root of a node, or a relative path, is never meant.",
    "Write an absolute path other than `/`.",
    example="volumes: {/data: {host_path: /}}",
)
HOST_PATH_NEEDS_SLURM = Code(
    "host-path-needs-slurm",
    Severity.ERROR,
    "A folder of the node is mounted, but the task may go elsewhere than Slurm.",
    "Only Slurm binds folders of its nodes.",
    "Name Slurm in `infra` of every alternative, or use a volume.",
    example="volumes: {/data: {host_path: /scratch}}",
)
