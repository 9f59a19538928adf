# The image of any role: seed, worker, coordinator, or a crawl on its own. It runs `tiptoe` as a user without rights.
#
#   docker build -t tiptoe .
#   docker run --rm -v "$PWD:/output" tiptoe https://example.com/

FROM node:24-bookworm-slim AS build
WORKDIR /tiptoe
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build

FROM node:24-bookworm-slim
WORKDIR /tiptoe
COPY package.json package-lock.json .npmrc ./
# The Node of the image is the one that runs, so those that npm would bring along are left out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
# An optional peer of the package, needed on a store: the very version that the lock file names. It has no dependencies.
COPY --from=build /tiptoe/node_modules/@redis node_modules/@redis
COPY --from=build /tiptoe/dist dist
COPY bin bin
COPY LICENSE ./
RUN ln -s /tiptoe/bin/tiptoe.mjs /usr/local/bin/tiptoe && install -d -o node -g node /output

USER node
WORKDIR /output
VOLUME /output
ENV NODE_ENV=production \
    TIPTOE_HEALTH=0.0.0.0:9090
EXPOSE 9090
# A worker or coordinator whose loop has stopped does not answer. Other commands listen to nothing, and end by themselves.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# It handles its signals itself, and starts no processes that would be left behind.
ENTRYPOINT ["tiptoe"]
CMD ["help"]
