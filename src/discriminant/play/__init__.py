"""The playground: a page in the browser on which one draws points and watches linear discriminants learn them.

The page draws; every fit, verdict and trace is the library's own, made by a small server that listens on 127.0.0.1.

    recipe      an estimator as data: built for the fit, written as Python for the reader, from one description
    methods     the methods on offer, their parameters with bounds, and the recipe of each choice
    presets     sets of points from the textbooks
    state       what the page sends, checked: points, method, basis, coding, parameters
    own_points  a table of one's own brought onto the board
    frames      the trace of a fit as weights at each step, and φ on a grid for the picture
    globe       the solution region of weight space on the sphere ‖a‖ = 1
    answer      everything the page shows for a state
    server      HTTP with a secret in the address
"""
