import { useMutation } from "@tanstack/react-query";
import { api, type Schema } from "../../../api/client.ts";
import { BackLink } from "../../../app/back-link.tsx";
import { Page } from "../../../ui/page.tsx";
import { ImportedTools } from "./imported-tools.tsx";
import { SourceForm } from "./source-form.tsx";

/** Makes tools of what a server already says of itself. */
export function ImportToolsPage() {
  const read = useMutation({
    mutationFn: (body: Schema["ImportToolsRequest"]) => api.POST("/v1/public/tools/import", { body }),
  });
  return (
    <Page
      title="Import tools"
      heading={
        <span className="flex flex-col gap-2">
          <BackLink to="/tools" search={{}}>
            Tools
          </BackLink>
          Import tools
        </span>
      }
      description="From the OpenAPI document of a server, or from a curl command. You choose which operations become tools."
    >
      <SourceForm read={read} />
      {read.data && !read.isPending && <ImportedTools key={read.submittedAt} imported={read.data} />}
    </Page>
  );
}
