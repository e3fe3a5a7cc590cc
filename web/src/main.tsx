import { render } from "preact";
import { App } from "./app";
import { applyTheme, storedTheme } from "./look/style";
import "./page.css";

applyTheme(storedTheme());
render(<App />, document.getElementById("page")!);
