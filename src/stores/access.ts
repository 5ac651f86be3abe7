/**
 * In whose name a store is asked. Every read and write of a task takes one; `system` is for recovery, sweeping and
 * the operator's door, which records its own reads. A foreign row answers like one that does not exist.
 */
export type Access = { readonly owner: string; readonly tenant: string } | 'system';
