/*
 * Stand-in for the pyxis plugin: srun, sbatch and salloc take the --container-* options, no container is ever started.
 *
 * What was given is handed to each task, and to the batch script, as STANDIN_PYXIS_CONTAINER_IMAGE=... and so on ("1" for
 * an option without a value), so that a test can see which options reached the job.
 */
#include <stdlib.h>
#include <string.h>

#include <slurm/spank.h>

/* The real plugin's name: Slurm uses it in SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_image. */
SPANK_PLUGIN(pyxis, 1)

struct option {
	char *flag;     /* without the leading -- */
	char *value;    /* what to call its value in --help; NULL: takes none */
	char *variable; /* in the task's environment */
	char *given;
};

static struct option options[] = {
	{ "container-image", "IMAGE", "STANDIN_PYXIS_CONTAINER_IMAGE" },
	{ "container-mounts", "SRC:DST[:FLAGS],...", "STANDIN_PYXIS_CONTAINER_MOUNTS" },
	{ "container-workdir", "DIR", "STANDIN_PYXIS_CONTAINER_WORKDIR" },
	{ "container-name", "NAME", "STANDIN_PYXIS_CONTAINER_NAME" },
	{ "container-save", "FILE", "STANDIN_PYXIS_CONTAINER_SAVE" },
	{ "container-env", "NAME,...", "STANDIN_PYXIS_CONTAINER_ENV" },
	{ "container-mount-home", NULL, "STANDIN_PYXIS_CONTAINER_MOUNT_HOME" },
	{ "no-container-mount-home", NULL, "STANDIN_PYXIS_NO_CONTAINER_MOUNT_HOME" },
	{ "container-remap-root", NULL, "STANDIN_PYXIS_CONTAINER_REMAP_ROOT" },
	{ "no-container-remap-root", NULL, "STANDIN_PYXIS_NO_CONTAINER_REMAP_ROOT" },
	{ "container-entrypoint", NULL, "STANDIN_PYXIS_CONTAINER_ENTRYPOINT" },
	{ "no-container-entrypoint", NULL, "STANDIN_PYXIS_NO_CONTAINER_ENTRYPOINT" },
	{ "container-writable", NULL, "STANDIN_PYXIS_CONTAINER_WRITABLE" },
	{ "container-readonly", NULL, "STANDIN_PYXIS_CONTAINER_READONLY" },
};

#define COUNT ((int) (sizeof(options) / sizeof(options[0])))

static int remember(int index, const char *value, int remote)
{
	struct option *o = &options[index];

	(void) remote;
	if (o->value && (!value || !value[0])) {
		slurm_error("pyxis: --%s: argument required", o->flag);
		return ESPANK_BAD_ARG;
	}
	free(o->given);
	o->given = strdup(o->value ? value : "1");
	return o->given ? ESPANK_SUCCESS : ESPANK_ERROR;
}

int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	int result = ESPANK_SUCCESS;

	(void) argc;
	(void) argv;
	switch (spank_context()) {
	case S_CTX_LOCAL:     /* srun */
	case S_CTX_ALLOCATOR: /* sbatch, salloc */
	case S_CTX_REMOTE:    /* slurmstepd */
		break;
	default:
		return ESPANK_SUCCESS;
	}
	for (int i = 0; i < COUNT && result == ESPANK_SUCCESS; i++) {
		struct spank_option registered = {
			.name = options[i].flag,
			.arginfo = options[i].value,
			.usage = "accepted for tests, starts no container",
			.has_arg = options[i].value != NULL,
			.val = i,
			.cb = remember,
		};
		result = spank_option_register(spank, &registered);
	}
	return result;
}

int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
	(void) argc;
	(void) argv;
	for (int i = 0; i < COUNT; i++) {
		if (options[i].given)
			spank_setenv(spank, options[i].variable, options[i].given, 1);
	}
	return ESPANK_SUCCESS;
}
