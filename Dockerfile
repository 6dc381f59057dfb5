# syntax=docker/dockerfile:1
# reprise:            docker build -t reprise .
# the engine plugins: docker build -t reprise-plugins --target plugins .
#
# Name images by digest for a reproducible build: --build-arg BUILD_IMAGE=node@sha256:… and so on.
# SOURCE_DATE_EPOCH is the timestamp of every file; `rewrite-timestamp=true` sets it on the layers, too.
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG RUN_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
# all native packages include prebuilt code, so no install script is needed
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
ARG SOURCE_DATE_EPOCH=315532800
RUN SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} packaging/assemble.sh /app

FROM ${PYTHON_IMAGE} AS wheels
WORKDIR /build
COPY packaging/wheel-requirements.txt packaging/
RUN pip install --no-cache-dir --require-hashes --only-binary=:all: -r packaging/wheel-requirements.txt
COPY . .
ARG SOURCE_DATE_EPOCH=315532800
RUN SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} packaging/wheels.sh /plugins

# for an init container: pip install --no-index --no-deps --find-links=/plugins --target=FOLDER reprise-vllm
FROM ${PYTHON_IMAGE} AS plugins
COPY --from=wheels /plugins /plugins
USER 65532:65532
CMD ["ls", "/plugins"]

# last, so that it is built if no target is named
FROM ${RUN_IMAGE} AS reprise
COPY --from=build /app /app
ENV NODE_ENV=production PATH=/nodejs/bin:/usr/local/bin:/usr/bin:/bin
WORKDIR /app
USER 65532:65532
EXPOSE 8080 9090
ENTRYPOINT ["/nodejs/bin/node", "/app/bin/reprise"]
CMD ["serve"]
