/**
 * The tables of a crawl. Rows are written in order of their keys wherever that can be had: what is found is appended to
 * `url` and never changed there, what changes is appended to `log` and written to the other tables later, sorted.
 */

/** Changes with every change to the tables; a store of another layout is refused, never guessed at. */
export const LAYOUT = 5

export const TABLES = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  -- Every URL ever discovered, in order of discovery, as it was when it was discovered.
  CREATE TABLE url (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, lane INTEGER NOT NULL, kind INTEGER NOT NULL, via INTEGER NOT NULL,
    referrer INTEGER NOT NULL, redirects INTEGER NOT NULL, nesting INTEGER NOT NULL, found_at REAL NOT NULL,
    slot INTEGER NOT NULL, depth INTEGER NOT NULL, state INTEGER NOT NULL, rank INTEGER NOT NULL);
  -- What became of it since, and what its last visit brought (see rows.ts); no row while nothing did. The first part is
  -- NULL when only the visit is known. Times of visits, due_at among them, are those of the clock less meta's
  -- visit_offset.
  CREATE TABLE state (
    id INTEGER PRIMARY KEY, slot INTEGER, depth INTEGER, state INTEGER, rank INTEGER, attempts INTEGER, reason TEXT,
    at REAL, due_at REAL, visit TEXT);
  CREATE INDEX state_due ON state (due_at) WHERE due_at IS NOT NULL;
  -- Orders of URLs: what is queued, what waits for its next attempt, what is parked. Entries of URLs that are done may
  -- stand in the queue for a while: see marks.ts.
  CREATE TABLE queue (
    lane INTEGER, slot INTEGER, rank INTEGER, url INTEGER, PRIMARY KEY (lane, slot, rank, url)) WITHOUT ROWID;
  CREATE TABLE waiting (due REAL, url INTEGER, PRIMARY KEY (due, url)) WITHOUT ROWID;
  CREATE TABLE held (host INTEGER, url INTEGER, PRIMARY KEY (host, url)) WITHOUT ROWID;
  CREATE TABLE aside (host INTEGER, url INTEGER, PRIMARY KEY (host, url)) WITHOUT ROWID;
  -- Two bits for each of 8,192 URLs in a row: see marks.ts.
  CREATE TABLE mark (block INTEGER PRIMARY KEY, bits BLOB NOT NULL);
  -- Changes of rows of state, host and lane, one entry for each commit: see log-entry.ts.
  CREATE TABLE log (seq INTEGER PRIMARY KEY, numbers BLOB NOT NULL, texts TEXT NOT NULL);
  -- Fingerprints of the youngest URLs, 8 bytes each from the id \`first\` on, until a file of the exact set has them.
  CREATE TABLE print (first INTEGER PRIMARY KEY, prints BLOB NOT NULL);
  -- What a look-up of a known URL needs, for 1,024 URLs in a row: see facts.ts.
  CREATE TABLE facts (block INTEGER PRIMARY KEY, words BLOB NOT NULL, counted INTEGER NOT NULL);
  -- URLs that were named once more, 32-bit ids, one entry for each commit: until all blocks of then have them.
  CREATE TABLE named (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL);
  -- Links of fetched pages, kept only when a depth limit makes them matter: 32-bit words of 2 * id + step.
  CREATE TABLE children (url INTEGER PRIMARY KEY, links BLOB NOT NULL);
  CREATE TABLE host (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, due REAL, line INTEGER NOT NULL DEFAULT 0,
    tier INTEGER NOT NULL DEFAULT 1, pages INTEGER NOT NULL DEFAULT 0, cash REAL NOT NULL DEFAULT 0,
    credit REAL NOT NULL DEFAULT 0, depth REAL NOT NULL DEFAULT 0, change_pages REAL NOT NULL DEFAULT 0,
    change_rate REAL NOT NULL DEFAULT 0, revisit_rate REAL NOT NULL DEFAULT 0, answered_at REAL,
    blocked_until REAL NOT NULL DEFAULT 0, blocked_reason TEXT, strikes INTEGER NOT NULL DEFAULT 0,
    streak INTEGER NOT NULL DEFAULT 0, streak_since REAL NOT NULL DEFAULT 0, blocked_at REAL NOT NULL DEFAULT 0,
    latency_ms REAL NOT NULL DEFAULT 0, address TEXT, closest_ms REAL);
  -- Sixteen orders in one: by how a host answered last, and by the tiers that it has work in.
  CREATE INDEX host_due ON host (line, due) WHERE due IS NOT NULL;
  CREATE TABLE trap (host INTEGER PRIMARY KEY, learned TEXT NOT NULL);
  CREATE TABLE lane (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, origin TEXT NOT NULL, high INTEGER NOT NULL DEFAULT 0,
    medium INTEGER NOT NULL DEFAULT 0, low INTEGER NOT NULL DEFAULT 0, auto INTEGER NOT NULL DEFAULT 0,
    robots_not_before REAL NOT NULL DEFAULT 0, robots_attempts INTEGER NOT NULL DEFAULT 0,
    robots_moved INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX lane_host ON lane (host);
  CREATE TABLE robots (lane INTEGER PRIMARY KEY, summary TEXT NOT NULL, body TEXT NOT NULL);
  CREATE TABLE errand (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, origin TEXT NOT NULL, url TEXT NOT NULL, redirects INTEGER NOT NULL);
  CREATE INDEX errand_host ON errand (host);
`
