FROM scratch
ARG TARGETARCH
COPY bin/archmage-linux-${TARGETARCH} /usr/local/bin/archmage
USER 65532:65532
WORKDIR /workspace
ENTRYPOINT ["archmage"]
