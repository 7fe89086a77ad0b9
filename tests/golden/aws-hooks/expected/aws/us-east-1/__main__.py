«templates/aws/__main__.py»
