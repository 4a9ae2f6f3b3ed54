# qdrank with everything that a run and the tests need, from the hashed lock: docker build --tag qdrank:0.1.0 .
FROM python:3.11-slim
RUN apt-get -qq update && apt-get -qq install --no-install-recommends git libgomp1 procps rsync && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/qdrank
COPY requirements/dev.txt requirements/dev.txt
RUN pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
COPY . .
RUN pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
# A run writes into the folder that is mounted here: docker run --rm --volume "$PWD:/work" qdrank:0.1.0 run mine.yaml
WORKDIR /work
ENTRYPOINT ["qdrank"]
