import type { Command } from 'commander';
import type { CliIo } from './io.ts';
import { addTasksCancel } from './tasks-cancel.ts';
import { addTasksGet, addTasksResult } from './tasks-get.ts';
import { addTasksList } from './tasks-list.ts';
import { addTasksWatch } from './tasks-watch.ts';

/** `longcall tasks …`: what runs, ran and waits, over the admin endpoint of a running gateway. */
export function registerTasks(program: Command, io: CliIo): void {
  const tasks = program.command('tasks').description('look at tasks, follow them, stop them');
  addTasksList(tasks, io);
  addTasksGet(tasks, io);
  addTasksWatch(tasks, io);
  addTasksCancel(tasks, io);
  addTasksResult(tasks, io);
}
