import type { InputRequest, Task } from '../../../protocol/model.ts';
import type { Carrier } from './carriers.ts';
import type { OpenAsk } from './session.ts';

/** One open question of a task, on its way to a client. */
export interface Question {
  readonly task: Task;
  readonly input: InputRequest;
  /** `answering`: an answer has come and is being stored. */
  state: 'open' | 'answering';
  /** How often an answer came that can be none, and what was wrong with the last of them. */
  malformed: number;
  problem?: string;
  sent?: SentQuestion;
}

export interface SentQuestion extends Carrier {
  readonly ask: OpenAsk;
  /** The request whose lane it went on was answered in order: the client still has the question, and may answer it. */
  kept?: boolean;
}

/** The open questions of this process, by task and key. */
export interface QuestionBook {
  of(taskId: string): readonly Question[];
  tasks(): readonly string[];
  /** Enters questions that are not in it yet. */
  enter(task: Task, inputs: readonly InputRequest[]): void;
  remove(taskId: string, key: string): Question | undefined;
}

export function createQuestionBook(): QuestionBook {
  const book = new Map<string, Map<string, Question>>();
  return {
    of: (taskId) => Array.from(book.get(taskId)?.values() ?? []),
    tasks: () => Array.from(book.keys()),
    enter(task, inputs) {
      const keys = book.get(task.id) ?? new Map<string, Question>();
      for (const input of inputs)
        if (!keys.has(input.key) && input.state === 'pending')
          keys.set(input.key, { task, input, state: 'open', malformed: 0 });
      if (keys.size > 0) book.set(task.id, keys);
    },
    remove(taskId, key) {
      const keys = book.get(taskId);
      const question = keys?.get(key);
      keys?.delete(key);
      if (keys?.size === 0) book.delete(taskId);
      return question;
    },
  };
}
