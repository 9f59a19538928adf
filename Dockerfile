# The image of any role: seed, worker, coordinator, or a crawl on its own. It runs `tiptoe` as a user without rights.
#
#   docker build -t tiptoe .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/output" tiptoe https://example.com/
#
# It listens to nothing by itself; where a fleet runs in it, `--health` gives a health check something to ask.

FROM node:24-bookworm-slim AS build
WORKDIR /tiptoe
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY build build
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
ENV NODE_ENV=production
# It handles its signals itself, and starts no processes that would be left behind.
ENTRYPOINT ["tiptoe"]
CMD ["help"]
