/*
 * Stand-in for the pyxis plugin: srun, sbatch and salloc take the --container-* options.
 *
 * What was given is handed to each task, and to the batch script, as STANDIN_PYXIS_CONTAINER_IMAGE=... and so on ("1" for
 * an option without a value), so that a test can see which options reached the job. No container is started, but for an
 * image called "chroot...", or a name that already has a folder: the task then runs in a root of its own, below the
 * plugin's argument, whose /root and /opt are the container's and whose system is the host's. The enroot stand-in of the
 * tests exports and restores exactly these folders.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const char *given(const char *flag)
{
	for (int i = 0; i < COUNT; i++) {
		if (!strcmp(options[i].flag, flag))
			return options[i].given;
	}
	return NULL;
}

/* Makes a folder, with all above it, and binds another there. */
static int bind_at(const char *root, const char *source, const char *target)
{
	char path[4096], *slash;

	snprintf(path, sizeof(path), "%s%s", root, target);
	for (slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
	return mount(source, path, NULL, MS_BIND | MS_REC, NULL);
}

int slurm_spank_task_init_privileged(spank_t spank, int argc, char *argv[])
{
	static const char *system_folders[] = { "/usr", "/etc", "/dev", "/proc", "/sys", "/tmp", "/run" };
	static const char *links[] = { "bin", "sbin", "lib", "lib64" };
	const char *image = given("container-image"), *name = given("container-name");
	const char *mounts = given("container-mounts");
	char host[256], root[2048], path[4096], target[64], *list, *pair, *colon;
	struct stat there;
	uid_t user = 0;
	gid_t group = 0;

	if (argc < 1 || !name || gethostname(host, sizeof(host)))
		return ESPANK_SUCCESS;
	snprintf(root, sizeof(root), "%s/%s", argv[0], host);
	mkdir(argv[0], 0755);
	spank_get_item(spank, S_JOB_UID, &user);
	spank_get_item(spank, S_JOB_GID, &group);
	mkdir(root, 0755);
	(void) !chown(root, user, group);
	snprintf(root, sizeof(root), "%s/%s/pyxis_%.*s", argv[0], host, (int) strcspn(name, ":"), name);
	if (stat(root, &there) && (!image || strncmp(image, "chroot", 6)))
		return ESPANK_SUCCESS; /* options only */
	mkdir(root, 0755);
	(void) !chown(root, user, group);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, i ? "opt" : "root");
		if (!mkdir(path, 0755))
			(void) !chown(path, user, group);
	}
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, links[i]);
		snprintf(target, sizeof(target), "usr/%s", links[i]);
		(void) !symlink(target, path);
	}
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return ESPANK_ERROR;
	for (size_t i = 0; i < sizeof(system_folders) / sizeof(system_folders[0]); i++) {
		if (bind_at(root, system_folders[i], system_folders[i]))
			return ESPANK_ERROR;
	}
	list = strdup(mounts ? mounts : "");
	for (pair = strtok(list, ","); pair; pair = strtok(NULL, ",")) {
		colon = strchr(pair, ':');
		if (!colon)
			continue;
		*colon++ = 0;
		colon[strcspn(colon, ":")] = 0;
		if (bind_at(root, pair, colon))
			return ESPANK_ERROR;
	}
	free(list);
	spank_setenv(spank, "HOME", "/root", 1);
	return chroot(root) || chdir("/") ? ESPANK_ERROR : ESPANK_SUCCESS;
}
