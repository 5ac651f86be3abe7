/**
 * What a schema says about types, by the Standard Schema shape that zod (3.24 and newer, 4), valibot, arktype and others
 * carry. The SDK validates; here only the types are read.
 */
export interface Schema {
  readonly '~standard': {
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** A schema of the whole object, or of each argument by name (not for FastMCP, which takes the former only). */
export type ArgumentSchema = Schema | Readonly<Record<string, Schema>>;

type Types<Of extends Schema> = NonNullable<Of['~standard']['types']>;

/** What a value is after the schema has passed it. */
export type OutputOf<Of extends Schema> = Types<Of>['output'];

type Optional<Shape extends Readonly<Record<string, Schema>>> = {
  [Name in keyof Shape]: undefined extends OutputOf<Shape[Name]> ? Name : never;
}[keyof Shape];

type Flat<T> = { [Name in keyof T]: T[Name] };

type OfShape<Shape extends Readonly<Record<string, Schema>>> = Flat<
  { [Name in Exclude<keyof Shape, Optional<Shape>>]: OutputOf<Shape[Name]> } & {
    [Name in Optional<Shape>]?: OutputOf<Shape[Name]>;
  }
>;

/** The arguments that a handler gets: validated, defaults filled in. Without a schema there are none. */
export type ArgumentsOf<Of extends ArgumentSchema | undefined> = Of extends Schema
  ? OutputOf<Of>
  : Of extends Readonly<Record<string, Schema>>
    ? OfShape<Of>
    : Readonly<Record<string, never>>;
