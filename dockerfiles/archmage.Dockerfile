FROM scratch
ARG TARGETARCH
COPY bin/archmage-linux-${TARGETARCH} /usr/local/bin/archmage
USER 65532:65532
# audit writes there; this user owns what WORKDIR makes
WORKDIR /tmp
WORKDIR /workspace
ENTRYPOINT ["archmage"]
