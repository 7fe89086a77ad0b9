python tokenize_corpus.py
