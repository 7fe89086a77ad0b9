«templates/aws/common/grants.py»
