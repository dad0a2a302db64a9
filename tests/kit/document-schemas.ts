import Ajv from "ajv/dist/2020";
import addFormats from "ajv-formats";

/** Returns the violations of a value against a schema of an OpenAPI document; none when it fits. */
export type Violations = (schema: { $ref?: string }, value: unknown) => unknown[];

/**
 * Each component is a schema of its own, which is compiled once: one that is found within a document is compiled again for
 * every schema that leads to it.
 */
export function violationsBy(components: Record<string, object>): Violations {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats(ajv);
  for (const [name, schema] of Object.entries(components)) ajv.addSchema(withOwnNames(schema), name);
  return (schema, value) => {
    const own = withOwnNames(schema);
    const validate = (own.$ref && ajv.getSchema(own.$ref)) || ajv.compile(own);
    return validate(value) ? [] : (validate.errors ?? []);
  };
}

function withOwnNames<T extends object>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"'));
}
