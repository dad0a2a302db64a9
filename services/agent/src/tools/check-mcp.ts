import type { McpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { checkAddress } from "@parley/shared/egress/url";
import { checkAuth, checkOwnHeaders } from "./check-http.ts";

/** @throws ServiceError invalid at the first rule that the tool breaks */
export function checkMcp({ url, headers, auth }: McpTool, allowedHosts: AllowList): void {
  checkAddress("url", url, allowedHosts);
  if (auth) checkAuth(auth, allowedHosts);
  checkOwnHeaders(headers, auth);
}
