«templates/common/prologue.sh»
