/** How one check came out. `skipped` says in `detail` why nothing could be looked at: it is no pass. */
export const FINDING_STATUSES = ['ok', 'warn', 'fail', 'skipped'] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];

/** What one check found, and what to do about it. */
export interface Finding {
  /** Stable, for programs: `node`, `config`, `data.directory`, `upstream.reports` … */
  readonly check: string;
  readonly status: FindingStatus;
  readonly detail: string;
  readonly hint?: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail });
export const skipped = (check: string, detail: string): Finding => ({
  check,
  status: 'skipped',
  detail,
});

interface Trouble {
  readonly detail: string;
  readonly hint: string;
}

export const warn = (check: string, trouble: Trouble): Finding => ({
  check,
  status: 'warn',
  ...trouble,
});
export const fail = (check: string, trouble: Trouble): Finding => ({
  check,
  status: 'fail',
  ...trouble,
});
