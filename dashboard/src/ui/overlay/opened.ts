/** Everything that opens over a page. The parts share most of their scripts, so they are one script. */
export { OpenedDialog } from "./opened-dialog.tsx";
export { OpenedDrawer } from "./opened-drawer.tsx";
export { OpenedItem, OpenedLabel, OpenedLine, OpenedMenu } from "./opened-menu.tsx";
export { OpenedPopover } from "./opened-popover.tsx";
export { ToastCorner } from "./toast-corner.tsx";
