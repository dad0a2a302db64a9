import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { SearchInput } from "../../../ui/form/search-input.tsx";
import { numberOf } from "../../../ui/numbers.ts";
import { Notice } from "../../../ui/states.tsx";
import { type Imported, isFound } from "./imported.ts";
import { MissingSecrets } from "./missing-secrets.tsx";
import { Operation } from "./operation.tsx";
import { useCreating } from "./use-creating.ts";

/** From so many on, a search helps. */
const MANY = 8;

/** The tools that an import offers: choose some, add the secrets that they need, and create them. */
export function ImportedTools({ imported: { tools, problems } }: { imported: Imported }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(tools.length === 1 ? tools.map(({ name }) => name) : []),
  );
  const [search, setSearch] = useState("");
  const { creations, isCreating, create } = useCreating();
  const isCreated = (name: string) => creations.get(name)?.state === "created";
  const shown = tools.filter((tool) => isFound(tool, search));
  const open = shown.map(({ name }) => name).filter((name) => !isCreated(name));
  const wanted = tools.filter(({ name }) => chosen.has(name) && !isCreated(name));
  const choose = (names: readonly string[], on: boolean) =>
    setChosen((before) => new Set(on ? [...before, ...names] : [...before].filter((name) => !names.includes(name))));
  const areAllChosen = open.length > 0 && open.every((name) => chosen.has(name));
  return (
    <section aria-label="Imported tools" className="flex flex-col gap-5">
      {problems.length > 0 && <Problems problems={problems} />}
      {tools.length === 0 ? (
        <Notice>Nothing in it can be a tool.</Notice>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-3">
            {tools.length >= MANY && <SearchInput label="Search operations" value={search} onChange={setSearch} />}
            <Button size="small" disabled={open.length === 0} onClick={() => choose(open, !areAllChosen)}>
              {areAllChosen ? "Choose none" : `Choose all ${numberOf(open.length)}`}
            </Button>
          </div>
          <ul aria-label="Operations" className="divide-y divide-line rounded-xl border border-line bg-raised">
            {shown.map((tool) => (
              <Operation
                key={tool.name}
                tool={tool}
                creation={creations.get(tool.name)}
                isChosen={chosen.has(tool.name)}
                onChoose={(on) => choose([tool.name], on)}
              />
            ))}
            {shown.length === 0 && <li className="px-4 py-6 text-center text-muted">No matching operations</li>}
          </ul>
          <div className="sticky bottom-0 flex flex-wrap items-center gap-3 border-t border-line bg-canvas py-3">
            <MissingSecrets tools={wanted} />
            <Button variant="primary" busy={isCreating} disabled={wanted.length === 0} onClick={() => create(wanted)}>
              {wanted.length === 1 ? "Create 1 tool" : `Create ${numberOf(wanted.length)} tools`}
            </Button>
            {tools.some(({ name }) => isCreated(name)) && !isCreating && (
              <p role="status" className="text-muted">
                Copy the signing secrets that your server checks: they are shown only this once.
              </p>
            )}
          </div>
        </>
      )}
    </section>
  );
}

function Problems({ problems }: Pick<Imported, "problems">) {
  return (
    <Notice tone="warning">
      <details>
        <summary className="cursor-pointer font-medium">
          {problems.length === 1 ? "There is 1 problem" : `There are ${numberOf(problems.length)} problems`}
        </summary>
        <ul className="mt-2 max-h-72 list-disc overflow-y-auto pl-5">
          {problems.map(({ operation, problem }, at) => (
            <li key={at} className="wrap-anywhere">
              <code className="font-mono text-[0.8125rem]">{operation}</code>: {problem}
            </li>
          ))}
        </ul>
      </details>
    </Notice>
  );
}
