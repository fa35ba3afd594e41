"""Train on Spark, from files and from a DataFrame."""

import sys

import halfspace.spark
from pyspark.sql import SparkSession

spark, path = SparkSession.builder.getOrCreate(), sys.argv[1]

model = halfspace.spark.train(spark, path, label="diagnosis", algo="logistic", l2=1)  # a halfspace.Model
frame = spark.read.parquet(path)
learner = halfspace.spark.LogisticRegression(featuresCol=["mean_radius", "mean_texture"], labelCol="diagnosis", l2=1.0)
scored = learner.fit(frame).transform(frame)  # an estimator of pyspark.ml

print(model, scored.columns[-3:])
