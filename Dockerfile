# Touchstone as a container, as a server or a worker: the packages of requirements-cluster.lock by their hashes, no build tools, no root, a read-only root.
# How to run it for a team: docs/operations.md. Pin the base image by its digest in your own copy.

FROM python:3.13-slim-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential \
 && rm -rf /var/lib/apt/lists/*
COPY requirements-cluster.lock /tmp/requirements.lock
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/requirements.lock \
 && /opt/venv/bin/pip uninstall -y pip \
 && /opt/venv/bin/python -m compileall -q /opt/venv/lib

FROM python:3.13-slim-bookworm
RUN python -m pip uninstall -y pip \
 && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin touchstone \
 && install -d -o touchstone -g touchstone -m 0700 /data
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY app.py LICENSE SECURITY.md ./
COPY .streamlit .streamlit
COPY agent agent
COPY pages pages
COPY prompts prompts
COPY demo demo
COPY docs/licences.md docs/sbom.json docs/
RUN /opt/venv/bin/python -m compileall -q agent pages app.py
ENV PATH=/opt/venv/bin:$PATH HOME=/tmp STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE=true PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    MALLOC_ARENA_MAX=2 TOUCHSTONE_DATA=/data LOG_FORMAT=json LOG_LEVEL=INFO
USER 10001:10001
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/readyz', timeout=8)"]
ENTRYPOINT ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
