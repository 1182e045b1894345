# The table service. The platform's half (infra/) and everything for development stay outside.
FROM node:26.10.0-bookworm AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY tools/unused tools/unused
RUN ["npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]

FROM node:26.10.0-bookworm-slim
# Stores are reached over TLS, and the slim image has no certificates for native code.
COPY --from=dependencies /etc/ssl/certs /etc/ssl/certs
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY service service
ENV NODE_ENV=production LAKEHEAD_HOST=0.0.0.0
# The main process returns large buffers to the system when it frees them. By default malloc keeps buffers of up to 32 MiB, and
# under an attack that varies their sizes it keeps hundreds of MiB (test/hostile/bounds.long.test.ts).
ENV MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
# A number, so that Kubernetes can see that it is not root.
USER 1000:1000
# The root file system may be read-only: the engine writes temporary files here, and nothing else is written.
VOLUME ["/tmp"]
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "service/main.ts", "--health"]
CMD ["node", "service/main.ts"]
