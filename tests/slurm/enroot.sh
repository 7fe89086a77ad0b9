#!/bin/bash
# Stand-in for enroot beside the site's stand-in for pyxis (tests/slurm_site/container_options.c):
# a container is a folder, and what is exported is what the container has of its own.
here=$CONTAINERS/$(uname -n)
command=$1 && shift
case $command in
    create) # create --force --name NAME FILE
        mkdir -p -- "$here/$3" && tar -xf "$4" -C "$here/$3"
        ;;
    export) # export --force --output FILE NAME
        tar -cf "$3" -C "$here/$4" root opt
        ;;
    remove) rm -rf -- "$here/${2:?}/root" "$here/${2:?}/opt" ;;
esac
