// What Perfetto shows of the trace that the page has been told to open, or its complaint.
(async () => {
	const trace = await until("trace", () => self.app && self.app.trace);
	const rows = async (query) => {
		const result = await trace.engine.query(query);
		const all = [];
		for (const row = result.iter({}); row.valid(); row.next()) {
			all.push(Object.fromEntries(result.columns().map((c) => [c, row.get(c)])));
		}
		return all;
	};
	const problems = await rows(`SELECT name, CAST(value AS TEXT) AS count FROM stats
		WHERE severity IN ('error', 'data_loss') AND value > 0`);
	const slices = await rows(`SELECT s.name, s.category, up.name AS within, thread.name AS thread,
			EXTRACT_ARG(s.arg_set_id, 'args.error') AS error
		FROM slice s LEFT JOIN slice up ON up.id = s.parent_id
		LEFT JOIN thread_track t ON t.id = s.track_id LEFT JOIN thread USING (utid)
		ORDER BY s.ts, s.id`);
	const arrows = await rows(`SELECT a.name AS 'from', b.name AS 'to' FROM flow
		JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in ORDER BY b.ts`);

	await until("track", () => document.querySelector(".pf-track__title-popup"));
	const titles = [...document.querySelectorAll(".pf-track__title-popup")].map((t) => t.innerText);
	// The pane for a slice that has been clicked on.
	const [failed] = await rows("SELECT id FROM slice WHERE name = 'serve'");
	let pane = "";
	if (failed) {
		trace.selection.selectSqlEvent("slice", Number(failed.id));
		pane = await until("pane", () => {
			const text = document.querySelector(".pf-details-shell")?.innerText;
			return text?.includes("Arguments") && text;
		});
	}
	return { problems, titles, slices, arrows, pane };
})()
