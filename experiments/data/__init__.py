"""Games as data: a row a decision, in memory, in Parquet files and in Minari datasets."""
