/** The scenarios that longcall is held to one by one, whatever a requirement set scores. */
export const NAMED_SCENARIOS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-status-notifications',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
  'server-stateless',
  'http-header-validation',
  'caching',
  'dns-rebinding-protection',
  'input-required-result-basic-elicitation',
  'input-required-result-basic-sampling',
  'input-required-result-basic-list-roots',
  'input-required-result-request-state',
  'input-required-result-multiple-input-requests',
  'input-required-result-multi-round',
  'input-required-result-missing-input-response',
  'input-required-result-non-tool-request',
  'input-required-result-result-type',
  'input-required-result-unsupported-methods',
  'input-required-result-tampered-state',
  'input-required-result-capability-check',
  'input-required-result-ignore-extra-params',
  'input-required-result-validate-input',
] as const;

/** The frozen sets of the suite: what a server of that revision must pass, and what is run beside it unscored. */
export const REQUIREMENT_SETS = ['2025-11-25', '2026-07-28'] as const;

/** The parts of one conformance run. An expected failure names the part it belongs to. */
export const PARTS = ['named', ...REQUIREMENT_SETS] as const;
export type Part = (typeof PARTS)[number];
