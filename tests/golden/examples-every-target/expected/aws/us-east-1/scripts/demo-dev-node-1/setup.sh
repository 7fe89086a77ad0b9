git config --global init.defaultBranch main
