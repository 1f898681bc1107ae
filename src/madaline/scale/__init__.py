"""Takes work that consists of independent parts: replicas, members of a population, tables to predict.

Hands each part to a Ray cluster and returns the results in order, with the same bits as on one computer.
Start reading at cluster.py; members.py, replicas.py and prediction.py use it.
"""
