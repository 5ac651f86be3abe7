/** What is shown of each client, in the order in which it is done. */
export const OPERATIONS = [
  'connect',
  'list',
  'plain call',
  'task',
  'poll',
  'result',
  'input',
  'cancel',
  'progress',
  'reconnect',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What each operation means, for the page. */
export const MEANING: Readonly<Record<Operation, string>> = {
  connect:
    'it opens a session or discovers the server, and shows the name of what stands behind it',
  list: 'it lists the tools',
  'plain call': 'it calls a tool that answers at once, with structured content',
  task: 'it calls a tool as a task, follows it to its end and shows its result',
  poll: 'it reads the status of a task while it runs and when it has ended',
  result: 'it reads the result of a task by its id',
  input: 'it is asked in mid-call, and its answer reaches the tool',
  cancel: 'it cancels a task, and the work stops',
  progress: 'it gets the progress of a call',
  reconnect: 'a new process or session of the same caller collects by id what the former one began',
};
