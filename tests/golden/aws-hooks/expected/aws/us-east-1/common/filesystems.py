«templates/aws/common/filesystems.py»
