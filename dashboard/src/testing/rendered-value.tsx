import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { agentNamesQuery } from "../features/agents/agents.ts";
import { ReadableValue } from "../features/agents/versions/readable-value.tsx";
import { libraryQuery } from "../features/tools/tools.ts";

/** What a person reads of a field's value, with a space between its parts. */
export function renderedValue(field: string, value: unknown): string {
  const client = new QueryClient();
  client.setQueryData(agentNamesQuery.queryKey, { byId: new Map([["agt_1", "Billing"]]), areAll: true });
  client.setQueryData(libraryQuery.queryKey, { items: [{ id: "tol_1", name: "look_up" }], areAll: true } as never);
  const html = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <ReadableValue field={field} value={value} />
    </QueryClientProvider>,
  );
  return html
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
