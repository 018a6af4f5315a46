# The same files as `make image` puts together, for whoever builds with Docker or Podman. Both architectures at once:
#   docker buildx build --platform linux/amd64,linux/arm64 .
# The build stage's tag is fixed here; a digest in its place comes from your registry: --build-arg NODE_IMAGE=node@sha256:...
ARG NODE_IMAGE=docker.io/library/node:24.22.3-trixie-slim

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund && node tools/bundle.ts
ARG TARGETARCH=amd64
ARG SOURCE_DATE_EPOCH=0
RUN SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} node tools/image.ts --arch ${TARGETARCH} --root /image

FROM scratch
COPY --from=build /image/ /
USER 65532:65532
ENV PATH=/usr/bin
ENTRYPOINT ["/usr/bin/k8s-cloud-tagger"]
