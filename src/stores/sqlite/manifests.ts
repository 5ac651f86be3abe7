import type { ManifestStore, StoredManifest } from '../manifests.ts';
import { numberAt, objectColumn, textAt } from './rows.ts';
import type { Row } from './rows.ts';
import type { Session } from './session.ts';

const UPSERT = `
  INSERT INTO manifests (upstream, taken_at, document) VALUES (:upstream, :takenAt, :document)
  ON CONFLICT (upstream) DO UPDATE SET taken_at = excluded.taken_at, document = excluded.document`;
const SELECT = 'SELECT upstream, taken_at, document FROM manifests WHERE upstream = ?';

export function createManifestStore({ commit, db }: Session): ManifestStore {
  const upsert = db.prepare(UPSERT);
  const select = db.prepare(SELECT);
  return {
    put: ({ upstream, takenAt, document }) =>
      commit.write(() => {
        upsert.run({ upstream, takenAt, document: JSON.stringify(document) });
      }),
    get: (upstream) =>
      commit.read(() => {
        const row = select.get(upstream);
        return row && decodeManifest(row);
      }),
  };
}

function decodeManifest(row: Row): StoredManifest {
  return {
    upstream: textAt(row, 'upstream'),
    takenAt: numberAt(row, 'taken_at'),
    document: objectColumn(row, 'document'),
  };
}
